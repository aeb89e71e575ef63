/** First in, first out; what is taken from a long one costs no more than from a short one. */
export interface Fifo<T> {
  readonly length: number
  add(item: T): void
  /** Before all others. */
  putBack(item: T): void
  take(): T | undefined
}

export function fifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  const first: T[] = []
  let head = 0
  return {
    get length() {
      return first.length + items.length - head
    },
    add: (item) => void items.push(item),
    putBack: (item) => void first.push(item),
    take() {
      if (first.length > 0) return first.pop()
      if (head >= items.length) return undefined
      const item = items[head]
      items[head++] = undefined
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
  }
}
