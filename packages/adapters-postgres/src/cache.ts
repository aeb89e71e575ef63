import { LRUCache } from 'lru-cache'

export interface CacheOptions<Key, Value> {
  /** Seconds for which an answer is cached. 0 turns the cache off. */
  readonly seconds: number
  /** Maximum number of entries. The least recently used entry is evicted first. */
  readonly entriesMax: number
  readonly load: (key: Key) => Promise<Value>
}

export interface Cache<Key, Value> {
  /** Returns the cached value, or loads it. Concurrent callers share one load. */
  get(key: Key): Promise<Value>
  /** Returns true if `get` would not have to load the value. */
  has(key: Key): boolean
  /** Drops all entries, because something has changed. Later calls of `get` load values anew. */
  clear(): void
}

/**
 * Creates a cache. A value is kept for `seconds`, counted from before its load began; undefined is not kept. `now` is
 * in milliseconds, above 0, and never goes back. lru-cache's own `fetch` is not used, because it counts from after the
 * load and treats 0 seconds as no limit.
 */
export function createCache<Key extends string | number, Value>(
  { seconds, entriesMax, load }: CacheOptions<Key, Value>,
  now: () => number = () => performance.now(),
): Cache<Key, Value> {
  const answers = new LRUCache<Key, Promise<Value>>({
    max: entriesMax,
    ttl: seconds * 1000,
    ttlResolution: 0,
    perf: { now },
  })

  function remember(key: Key): Promise<Value> {
    const answer = load(key)
    if (seconds > 0) answers.set(key, answer)
    const forget = () => {
      if (answers.peek(key) === answer) answers.delete(key)
    }
    answer.then((value) => {
      if (value === undefined) forget()
    }, forget)
    return answer
  }
  return {
    get: (key) => answers.get(key) ?? remember(key),
    has: (key) => answers.has(key),
    // Also drops a value that is still being loaded, because it may have been read before the change.
    clear: () => answers.clear(),
  }
}
