import { randomUUID } from 'node:crypto'
import { parse } from 'node:querystring'

/** So many bytes a form may have: a thousand numbers with a long text are 40 kB. */
export const formBytesMax = 256 * 1024

/** The fields of a form that was submitted; those that it lacks are empty. */
export class Fields {
  private readonly values: Readonly<Record<string, unknown>>

  /** `body`: as it was sent, or what a parser of an outer app made of it. */
  constructor(body: string | object) {
    this.values = typeof body === 'string' ? parse(body, '&', '=', { maxKeys: 200 }) : { ...body }
  }

  /** As it was written. Browsers write line breaks as CRLF, which would be paid for. */
  text(name: string): string {
    return (this.all(name)[0] ?? '').replaceAll('\r\n', '\n')
  }

  trimmed(name: string): string {
    return this.text(name).trim()
  }

  /** Of boxes with one name those that are ticked. */
  all(name: string): readonly string[] {
    const value = Object.hasOwn(this.values, name) ? this.values[name] : []
    return [value].flat().filter((one) => typeof one === 'string')
  }

  /** Undefined: no whole number from 1 to 2^53-1. */
  number(name: string): number | undefined {
    const text = this.trimmed(name)
    return /^[1-9][0-9]{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
  }
}

/** What is wrong with the fields of a form, by name. */
export type Problems = Readonly<Record<string, string>>

/** A key of a form, by which what it does is done once however often it is submitted. */
export const newFormKey = (): string => `portal-${randomUUID()}`
