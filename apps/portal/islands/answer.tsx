/// <reference lib="dom" />
import type * as Counter from './counter.tsx'

const counter = async () => (await import(new URL('counter.js', import.meta.url).href)) as typeof Counter

/** Sends the typed answer without leaving the page, and shows it in the conversation. */
export function mount(panel: HTMLElement): void {
  panel.addEventListener('submit', (event) => {
    const { target: form } = event
    if (!(form instanceof HTMLFormElement)) return
    event.preventDefault()
    void send(panel, form)
  })
}

async function send(panel: HTMLElement, form: HTMLFormElement): Promise<void> {
  const body = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value)
  const answer = await fetch(form.action, { method: 'POST', body }).catch(() => undefined)
  const page = new DOMParser().parseFromString((await answer?.text()) ?? '', 'text/html')
  const [next, lines] = [page.getElementById(panel.id), page.getElementById('conversation')]
  if (next === null || lines === null) {
    // Fall back to an ordinary submission. The form carries a key, so an answer that was already sent is not sent
    // again.
    form.submit()
    return
  }
  document.getElementById('conversation')?.replaceWith(lines)
  panel.replaceChildren(...next.childNodes)
  const field = panel.querySelector('textarea')
  if (field === null) return
  ;(await counter()).mount(field)
  field.focus()
  const element = document.getElementById('said')
  if (element !== null) element.textContent = answer?.ok === true ? 'The answer was sent.' : 'The answer was not sent.'
}
