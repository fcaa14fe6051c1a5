fn main() {
    whippet::check(|_sys| 1u32);
}
