/** Keeps a number from answering the same sender again for ten seconds, so that no two programs answer each other for ever. */
export interface QuietReplies {
  /** Whether it may answer, which it then does after so many milliseconds. */
  mayReply(number: string, sender: string, now: number, delay: number): boolean
}

const quietMilliseconds = 10_000

export function quietReplies(): QuietReplies {
  const until = new Map<string, number>()
  return {
    mayReply(number, sender, now, delay) {
      const key = `${number} ${sender}`
      // The oldest come first.
      for (const [old, end] of until) {
        if (end > now) break
        until.delete(old)
      }
      if ((until.get(key) ?? 0) > now) return false
      until.delete(key)
      until.set(key, now + delay + quietMilliseconds)
      return true
    },
  }
}
