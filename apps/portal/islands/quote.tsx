/// <reference lib="dom" />
/** Pause in typing after which the cost is requested. */
const pauseMs = 600
/** Time until the next request after the gateway reported overload. */
const busyMs = 5000

/**
 * Returns the fields of the form, or undefined if a cost cannot be computed yet. A chosen file is read only by the
 * check page.
 */
function fieldsOf(form: HTMLFormElement): URLSearchParams | undefined {
  const entries = new FormData(form)
  const file = entries.get('file')
  if (file instanceof File && file.size > 0) return undefined
  const fields = new URLSearchParams()
  for (const [name, value] of entries) if (typeof value === 'string') fields.set(name, value)
  fields.set('step', 'quote')
  const isWritten = ['text', 'numbers'].every((name) => fields.get(name)?.trim())
  return isWritten ? fields : undefined
}

/** Shows the cost of a send while it is being written. The server computes it exactly as for the check page. */
export function mount(place: HTMLElement): void {
  const form = place.closest('form')
  if (form === null) return
  let waiting: ReturnType<typeof setTimeout> | undefined
  let lastSent = ''
  let isAsking = false

  function later(ms: number): void {
    clearTimeout(waiting)
    waiting = setTimeout(() => void ask(form as HTMLFormElement), ms)
  }

  async function ask({ action }: HTMLFormElement): Promise<void> {
    const fields = fieldsOf(form as HTMLFormElement)
    const now = fields?.toString() ?? ''
    if (now === lastSent) return
    if (isAsking) {
      // Only one request runs at a time. Text typed meanwhile is sent afterwards.
      later(pauseMs)
      return
    }
    lastSent = now
    if (fields === undefined) {
      place.replaceChildren()
      return
    }
    isAsking = true
    const answer = await fetch(action, { method: 'POST', body: fields, redirect: 'manual' }).catch(() => undefined)
    const html = answer?.ok === true ? await answer.text() : ''
    isAsking = false
    const found = new DOMParser().parseFromString(html, 'text/html').getElementById('quote')
    place.replaceChildren(...(found?.childNodes ?? []))
    if (answer?.status === 503) {
      lastSent = ''
      later(busyMs)
    }
  }

  form.addEventListener('input', () => later(pauseMs))
  later(0)
}
