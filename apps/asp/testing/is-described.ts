import type { FORMS } from '../src/documents.ts'
import { endpoints } from '../src/routes.ts'

const PATTERN: Readonly<Record<keyof typeof FORMS, string>> = {
  integer: '[0-9]+',
  number: '[^&;=]*',
  id: '[^&;=]+',
  'message id': '[1-9][0-9]{0,15}',
  'message id or nothing': '([1-9][0-9]{0,15})?',
  status: '(DELIVERED|SENT|SENDINGFAILED)',
  date: '[0-9]{4}/[0-9]{2}/[0-9]{2}',
  time: '[0-9]{2}:[0-9]{2}:[0-9]{2}',
  code: '[0-9]+',
  minute: '[0-9]{12}',
  text: '[^&;=]*',
  category: '[^&;=]+',
}

const patterns = new Map(Object.entries(PATTERN))

const patternOf = (form: string): string =>
  form.replace(/<([^>]+)>|[^\w\s=&;"<>]/g, (each, name?: string) =>
    name === undefined ? `\\${each}` : (patterns.get(name) ?? each),
  )

/** True if the page of the interface describes this answer with status 200: one item or a list of items. */
export function isDescribed(path: string, text: string): boolean {
  const endpoint = endpoints.get(path)
  if (endpoint === undefined) return false
  const { answers, wrongCredentials } = endpoint
  const [items, single] = [answers.filter((form) => form.endsWith('&')), answers.filter((form) => !form.endsWith('&'))]
  const one = [...single.map(patternOf), ...(items.length > 0 ? [`(${items.map(patternOf).join('|')})*`] : [])]
  return text === wrongCredentials || new RegExp(`^(${one.join('|')})$`, 'su').test(text)
}
