/// <reference lib="dom" />
/** So long nobody has to have typed. */
const pauseMs = 600
/** So long a gateway that has too much to do is left alone. */
const busyMs = 5000

/** What the form has, without its file, which is read when it is checked; undefined: nothing can be said yet. */
function fieldsOf(form: HTMLFormElement): URLSearchParams | undefined {
  const given = new FormData(form)
  const file = given.get('file')
  if (file instanceof File && file.size > 0) return undefined
  const fields = new URLSearchParams()
  for (const [name, value] of given) if (typeof value === 'string') fields.set(name, value)
  fields.set('step', 'quote')
  const isWritten = ['text', 'numbers'].every((name) => fields.get(name)?.trim())
  return isWritten ? fields : undefined
}

/** Says what a send will cost while it is written. The server answers by what it answers the check by. */
export function mount(place: HTMLElement): void {
  const form = place.closest('form')
  if (form === null) return
  let waiting: ReturnType<typeof setTimeout> | undefined
  let asked = ''
  let isAsking = false

  function later(ms: number): void {
    clearTimeout(waiting)
    waiting = setTimeout(() => void ask(form as HTMLFormElement), ms)
  }

  async function ask({ action }: HTMLFormElement): Promise<void> {
    const fields = fieldsOf(form as HTMLFormElement)
    const now = fields?.toString() ?? ''
    if (now === asked) return
    if (isAsking) {
      // One at a time: what was typed meanwhile is asked afterwards.
      later(pauseMs)
      return
    }
    asked = now
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
      asked = ''
      later(busyMs)
    }
  }

  form.addEventListener('input', () => later(pauseMs))
  later(0)
}
