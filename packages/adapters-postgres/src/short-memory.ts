export interface ShortMemoryOptions<Key, Value> {
  readonly seconds: number
  /** The oldest go first. */
  readonly entriesMax: number
  readonly load: (key: Key) => Promise<Value>
  /** Whether an answer is worth remembering. */
  readonly keep: (value: Value) => boolean
}

export interface ShortMemory<Key, Value> {
  /** What is remembered, or loaded now; callers who come while it is loaded share the answer. */
  get(key: Key): Promise<Value>
  /** Something has changed: whoever asks from now on is answered by what is read from now on. */
  clear(): void
}

interface Entry<Value> {
  readonly value: Promise<Value>
  readonly until: number
}

/** Remembers answers for some seconds, counted from before they were read. `now` is in milliseconds and never goes back. */
export function shortMemory<Key, Value>(
  { seconds, entriesMax, load, keep }: ShortMemoryOptions<Key, Value>,
  now: () => number = () => performance.now(),
): ShortMemory<Key, Value> {
  const entries = new Map<Key, Entry<Value>>()

  function remember(key: Key): Promise<Value> {
    const entry = { value: load(key), until: now() + seconds * 1000 }
    entries.delete(key)
    entries.set(key, entry)
    for (const oldest of entries.keys()) {
      if (entries.size <= entriesMax) break
      entries.delete(oldest)
    }
    const forget = () => {
      if (entries.get(key) === entry) entries.delete(key)
    }
    entry.value.then((value) => {
      if (!keep(value)) forget()
    }, forget)
    return entry.value
  }
  return {
    get: (key) => {
      const entry = entries.get(key)
      return entry !== undefined && entry.until > now() ? entry.value : remember(key)
    },
    // An answer that is being loaded is forgotten too: it may have been read before the change.
    clear: () => entries.clear(),
  }
}
