import { readWrittenNumber } from '@gateway/core/messages'

/** Shows a number as it was written and as it was read, if digits were left out; nothing for any other text. */
export function ReadAs({ written }: { readonly written: string | null }) {
  const read = readWrittenNumber(written ?? '')
  if (read.number === undefined || !read.changed) return null
  return (
    <span>
      <span class="text">“{written}”</span> was read as <strong>{read.number}</strong>.
    </span>
  )
}
