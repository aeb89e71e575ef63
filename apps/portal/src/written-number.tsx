import { readWrittenNumber } from '@gateway/core/messages'

/** Shows a number as it was entered and as it was read, if digits were dropped. Renders nothing otherwise. */
export function ReadAs({ written }: { readonly written: string | null }) {
  const read = readWrittenNumber(written ?? '')
  if (read.number === undefined || !read.changed) return null
  return (
    <span>
      <span class="text">“{written}”</span> was read as <strong>{read.number}</strong>.
    </span>
  )
}
