import type { Suppression, SuppressionScope } from '@gateway/core'

/** How the tables write the kinds. */
export const SUPPRESSION = { 'opt-out': 1, 'do-not-contact': 2, blacklist: 3 } as const satisfies Record<
  Suppression,
  number
>

const names = new Map<number, Suppression>(
  (Object.keys(SUPPRESSION) as Suppression[]).map((name) => [SUPPRESSION[name], name]),
)

export function suppressionOf(kind: number): Suppression {
  const name = names.get(kind)
  if (name === undefined) throw new Error(`no suppression of kind ${kind}`)
  return name
}

/** Account 0 stands for everybody. */
export const scopeId = (scope: SuppressionScope): number => (scope === 'everybody' ? 0 : scope)
