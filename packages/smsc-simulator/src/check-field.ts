/**
 * Checks a changed field of a personality. `words` has the texts that a field can contain. Throws an Error that names
 * the field.
 */
export function checkField(
  ordinary: object,
  words: Readonly<Record<string, readonly string[]>>,
  field: string,
  value: unknown,
): void {
  const byDefault: unknown = Object.hasOwn(ordinary, field) ? ordinary[field as keyof typeof ordinary] : undefined
  const isFitting =
    typeof byDefault === 'string'
      ? typeof value === 'string' && words[field]?.includes(value) === true
      : typeof byDefault === typeof value && (typeof value !== 'number' || (Number.isSafeInteger(value) && value >= 0))
  if (byDefault === undefined) throw new Error(`A personality has no field ${JSON.stringify(field)}.`)
  if (!isFitting) throw new Error(`${field} cannot be ${JSON.stringify(value)}.`)
}
