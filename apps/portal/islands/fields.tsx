/// <reference lib="dom" />
import { render } from 'preact'
import { ListFields, type ListOf } from '../src/list-fields.tsx'

/** Inserts a field into the text on a click, and keeps the preview of the first row current while the reader types. */
export function mount(host: HTMLElement): void {
  const field = document.querySelector('textarea')
  const list = JSON.parse(host.dataset['list'] ?? 'null') as ListOf | null
  if (field === null || list === null) return
  const insert = (name: string): void => {
    field.setRangeText(name, field.selectionStart, field.selectionEnd, 'end')
    field.dispatchEvent(new Event('input'))
    field.focus()
  }
  const show = (): void => render(<ListFields of={list} text={field.value} insert={insert} />, host)
  host.replaceChildren()
  show()
  field.addEventListener('input', show)
}
