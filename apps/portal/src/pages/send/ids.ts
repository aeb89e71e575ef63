import { parseMessageId, type MessageId } from '@gateway/core/messages'
import { recipientsMax } from '../../recipients.ts'

const nothing = 'none'

/** Ids in as few characters as they need: `10482-10490.10495`, or `none`. */
export function writeIds(ids: readonly MessageId[]): string {
  const runs: { readonly first: number; last: number }[] = []
  for (const id of [...ids].sort((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run?.last === id - 1) run.last = id
    else runs.push({ first: id, last: id })
  }
  const written = runs.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`))
  return written.length === 0 ? nothing : written.join('.')
}

/** The ids that were written so, at most `recipientsMax`; undefined: it is something else. */
export function readIds(text: string): readonly MessageId[] | undefined {
  if (text === nothing) return []
  const ids: MessageId[] = []
  for (const run of text.split('.')) {
    const ends = run.split('-')
    const [first, last] = [parseMessageId(ends[0] ?? ''), parseMessageId(ends.at(-1) ?? '')]
    if (first === undefined || last === undefined || ends.length > 2) return undefined
    const count = last - first + 1
    if (count < 1 || ids.length + count > recipientsMax) return undefined
    for (let id = first; id < first + count; id++) ids.push(id)
  }
  return ids
}
