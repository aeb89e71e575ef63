/// <reference lib="dom" />
import type * as Fields from './fields.tsx'

/** Bytes of the file that are uploaded for the preview. The whole file is uploaded when the form is submitted. */
const shownBytes = 65_536

/** Maximum size of a workbook to upload for the preview, in bytes. The directory of a workbook is at its end. */
const workbookBytesMax = 1_048_576

const isWorkbook = ({ name }: File): boolean => /\.xls[xm]$/i.test(name)

/** Loads the `fields` island, which stands beside this file, once a file is chosen. */
const fields = async () => (await import(new URL('fields.js', import.meta.url).href)) as typeof Fields

/** Shows the columns of the chosen file, as the server reads them, before the whole file is uploaded. */
export function mount(place: HTMLElement): void {
  const form = place.closest('form')
  const input = form?.querySelector<HTMLInputElement>('[name="file"]')
  if (form == null || input == null) return
  let latest = 0

  async function show({ action }: HTMLFormElement, file: File | undefined): Promise<void> {
    const own = ++latest
    place.replaceChildren()
    if (file === undefined || (isWorkbook(file) && file.size > workbookBytesMax)) return
    const body = new FormData(form as HTMLFormElement)
    body.delete('numbers')
    body.set('step', 'preview')
    const isCut = file.size > shownBytes && !isWorkbook(file)
    body.set('file', isCut ? file.slice(0, shownBytes) : file, file.name)
    if (isCut) body.set('cut', 'yes')
    const answer = await fetch(action, { method: 'POST', body, redirect: 'manual' }).catch(() => undefined)
    const html = answer?.ok === true ? await answer.text() : ''
    // Another file was chosen meanwhile.
    if (own !== latest) return
    const found = new DOMParser().parseFromString(html, 'text/html').getElementById('preview')
    place.replaceChildren(...(found?.childNodes ?? []))
    const list = place.querySelector<HTMLElement>('[data-island]')
    if (list !== null) (await fields()).mount(list)
  }
  input.addEventListener('change', () => void show(form, input.files?.[0]))
}
