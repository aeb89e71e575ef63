const lengthMax = 255

/**
 * A carrier's reference as it is stored and looked for. What a column cannot hold (U+0000) and what an index cannot
 * hold (a very long text) is replaced or cut the same way in a record and in a receipt, so that they still meet.
 */
export const storedReference = (reference: string): string =>
  reference.includes('\0') || reference.length > lengthMax
    ? reference.slice(0, lengthMax).replaceAll('\0', '\ufffd')
    : reference
