/// <reference lib="dom" />
import { render } from 'preact'
import { TextSize } from '../src/text-size.tsx'

/**
 * Updates the hint of a text field while the reader types: the length, the number of parts and the expensive
 * characters.
 */
export function mount(field: HTMLTextAreaElement): void {
  const hint = document.getElementById(`${field.id}-hint`)
  if (hint === null) return
  const show = (): void => render(<TextSize text={field.value} />, hint)
  hint.replaceChildren()
  show()
  field.addEventListener('input', show)
}
