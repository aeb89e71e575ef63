import { LRUCache } from 'lru-cache'

export interface CacheOptions<Key, Value> {
  /** 0: nothing is remembered. */
  readonly seconds: number
  /** Those that were not asked for longest go first. */
  readonly entriesMax: number
  readonly load: (key: Key) => Promise<Value>
}

export interface Cache<Key, Value> {
  /** What is remembered, or loaded now; callers who come while it is loaded share the answer. */
  get(key: Key): Promise<Value>
  /** Whether `get` would answer without loading. */
  has(key: Key): boolean
  /** Something has changed: whoever asks from now on is answered by what is read from now on. */
  clear(): void
}

/**
 * Remembers answers for some seconds, counted from before they were read; undefined is not remembered. `now` is in
 * milliseconds, above 0, and never goes back. `fetch` of lru-cache counts from after, and takes 0 seconds for ever.
 */
export function createCache<Key extends string, Value>(
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
    // An answer that is being loaded is forgotten too: it may have been read before the change.
    clear: () => answers.clear(),
  }
}
