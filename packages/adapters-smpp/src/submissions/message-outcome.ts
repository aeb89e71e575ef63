/** What became of one part. `retry`: the carrier certainly has not got it, or refused it for now. */
export type PartOutcome = { readonly reference: string } | 'refused' | 'retry' | 'unknown'

/** What became of a message when none of its parts is under way. */
export type MessageOutcome =
  | { readonly accepted: readonly string[] }
  /** The carrier has some of the parts and will not get the others: the person can never read it. */
  | { readonly partly: readonly string[] }
  | 'refused'
  | 'refused-for-now'
  | 'unknown'

const isAccepted = (outcome: PartOutcome | undefined): outcome is { readonly reference: string } =>
  typeof outcome === 'object'

/**
 * A message is submitted again as a whole only if the carrier has certainly none of its parts (P-5), and it stays charged if the carrier has one
 * (ruling 1.4). Undefined: a part that was never tried or is to be tried again.
 */
export function messageOutcome(parts: readonly (PartOutcome | undefined)[]): MessageOutcome {
  const only = parts.length === 1 ? parts[0] : undefined
  if (isAccepted(only)) return { accepted: [only.reference] }
  const references = parts.filter(isAccepted).map(({ reference }) => reference)
  if (references.length === parts.length) return { accepted: references }
  if (parts.includes('unknown')) return 'unknown'
  if (references.length > 0) return { partly: references }
  return parts.includes('refused') ? 'refused' : 'refused-for-now'
}

/** Whether parts that are missing are worth another try: the carrier may have others, and has refused none for good. */
export const isWorthCompleting = (parts: readonly (PartOutcome | undefined)[]): boolean =>
  !parts.includes('refused') && parts.some((part) => isAccepted(part) || part === 'unknown')
