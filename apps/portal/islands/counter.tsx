/// <reference lib="dom" />
import { render } from 'preact'
import { TextSize } from '../src/text-size.tsx'

/** Counts while somebody types: the hint of a text field says how its text is sent. */
export function mount(field: HTMLTextAreaElement): void {
  const hint = document.getElementById(`${field.id}-hint`)
  if (hint === null) return
  const show = (): void => render(<TextSize text={field.value} />, hint)
  hint.replaceChildren()
  show()
  field.addEventListener('input', show)
}
