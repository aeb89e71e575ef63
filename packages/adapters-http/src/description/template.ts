import { scalarText } from './json.ts'
import type { Choice, Template } from './schema.ts'

/** Values of placeholders, by name. An undefined value is missing. */
export type Values = Readonly<Record<string, string | number | boolean | undefined>>

const placeholders = /\{([A-Za-z][A-Za-z0-9.]*)\}/g
const placeholderAlone = /^\{([A-Za-z][A-Za-z0-9.]*)\}$/

/** Returns the names of the placeholders in a text. */
export const placeholdersIn = (text: string): readonly string[] =>
  [...text.matchAll(placeholders)].map(([, name = '']) => name)

const valueOf = (name: string, values: Values): Values[string] =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** Fills the placeholders of a text. A placeholder alone keeps its type. Undefined if a value is missing. */
export function fillText(text: string, values: Values): string | number | boolean | undefined {
  const [, alone] = placeholderAlone.exec(text) ?? []
  if (alone !== undefined) return valueOf(alone, values)
  if (placeholdersIn(text).some((name) => valueOf(name, values) === undefined)) return undefined
  return text.replace(placeholders, (_, name: string) => String(valueOf(name, values)))
}

interface Filled {
  /** If undefined, the field is omitted. */
  readonly value: unknown
  /** True if a placeholder in it had a value. */
  readonly hasValue: boolean
}

/**
 * Fills a template. A field whose value is missing is left out, and so is an object or list in which every placeholder
 * is missing.
 */
export const fillTemplate = (template: Template, values: Values): unknown => fill(template, values).value

function fill(template: Template, values: Values): Filled {
  if (typeof template === 'string') {
    const value = fillText(template, values)
    return { value, hasValue: value !== undefined && placeholdersIn(template).length > 0 }
  }
  if (typeof template !== 'object' || template === null) return { value: template, hasValue: false }
  if (isChoice(template)) return fillChoice(template, values)
  const entries = Object.entries(template).map(([name, each]) => ({ name, ...fill(each, values) }))
  const hasValue = entries.some((entry) => entry.hasValue)
  const present = entries.filter(({ value }) => value !== undefined)
  if (present.length < entries.length && !hasValue) return { value: undefined, hasValue }
  const value = Array.isArray(template)
    ? present.map((entry) => entry.value)
    : Object.fromEntries(present.map((entry) => [entry.name, entry.value]))
  return { value, hasValue }
}

function fillChoice({ $choose, from }: Choice, values: Values): Filled {
  const chosen = fillText($choose, values)
  const template = chosen !== undefined && Object.hasOwn(from, String(chosen)) ? from[String(chosen)] : undefined
  const filled = template === undefined ? undefined : fill(template, values)
  return { value: filled?.value, hasValue: filled?.value !== undefined }
}

export const isChoice = (template: unknown): template is Choice =>
  typeof template === 'object' && template !== null && Object.hasOwn(template, '$choose')

/** Fills the fields of a form, a query or headers. */
export function fillFields(fields: Readonly<Record<string, Template>>, values: Values): [string, string][] {
  return Object.entries(fields).flatMap(([name, template]): [string, string][] => {
    const text = scalarText(fill(template, values).value)
    return text === undefined ? [] : [[name, text]]
  })
}

/** Calls `found` with each text of a template that may contain placeholders, and its place as a JSON pointer. */
export function visitTexts(template: unknown, at: string, found: (text: string, at: string) => void): void {
  if (typeof template === 'string') found(template, at)
  else if (typeof template === 'object' && template !== null)
    for (const [name, each] of Object.entries(template)) visitTexts(each, `${at}/${escaped(name)}`, found)
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
