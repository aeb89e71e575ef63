import type { Brand } from '../brand.ts'

/** Positive integer below 2^53, unique over all accounts and interfaces (ruling 1.2). */
export type MessageId = Brand<number, 'MessageId'>

/** Returns a number as a message id, or undefined unless it is an integer from 1 to 2^53-1. */
export const messageId = (value: number): MessageId | undefined =>
  Number.isSafeInteger(value) && value > 0 ? (value as MessageId) : undefined

/**
 * Parses a message id in decimal digits, with any leading zeros. Returns undefined for any other text and beyond
 * 2^53-1.
 */
export const parseMessageId = (text: string): MessageId | undefined =>
  /^0*[1-9][0-9]{0,15}$/.test(text) ? messageId(Number(text)) : undefined
