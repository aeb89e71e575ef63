/// <reference lib="dom" />
import { render } from 'preact'
import { ListFields, type ListOf } from '../src/list-fields.tsx'

/** Fields are put into the text by a click, and the first row follows what is typed. */
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
