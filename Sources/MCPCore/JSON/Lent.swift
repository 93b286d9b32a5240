/// A value that lies in somebody else's memory and is read there.
///
/// What is loaded through a pointer is retained and released again, because the compiler cannot know that
/// nobody changes the memory meanwhile; for a tree of strings and arrays that is a quarter of the work. A
/// noncopyable value is not copied, so that its parts are used where they are. Memory of `Value` may be
/// rebound to `Lent<Value>`, which has the same layout.
struct Lent<Value>: ~Copyable {
    let value: Value
}
