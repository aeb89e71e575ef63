/** How receipts refer to a message that a carrier took, whole or as several parts. */
export interface CarrierReferences {
  /** The carrier's own id of the message, or of its first part. */
  readonly reference: string
  /** Of the other parts, in their order; none: it was taken as one. */
  readonly furtherReferences?: readonly string[]
}

/** The references of a message, each once: a carrier may give several parts one id, and then tells of them together. */
export const referencesOf = ({ reference, furtherReferences = [] }: CarrierReferences): readonly string[] => [
  ...new Set([reference, ...furtherReferences]),
]
