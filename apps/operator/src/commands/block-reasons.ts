import type { BlockReason } from '@gateway/core'

/** What the operator types, and the list it means. */
export const blockReasons = {
  blacklisted: 'blacklist',
  'do-not-contact': 'do-not-contact',
} as const satisfies Record<string, BlockReason>

export type BlockWord = keyof typeof blockReasons

export const blockWords = Object.keys(blockReasons) as BlockWord[]
