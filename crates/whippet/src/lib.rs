//! A systematic tester for actor programs.
