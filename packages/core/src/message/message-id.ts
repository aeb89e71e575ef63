import type { Brand } from '../brand.ts'

/** A positive integer below 2^53, unique over all accounts and interfaces (ruling 1.2). */
export type MessageId = Brand<number, 'MessageId'>

/** The message id that a number stands for; undefined unless it is an integer from 1 to 2^53-1. */
export const messageId = (value: number): MessageId | undefined =>
  Number.isSafeInteger(value) && value > 0 ? (value as MessageId) : undefined

/** The message id written in decimal digits; leading zeros are read over. Undefined for any other text and beyond 2^53-1. */
export const parseMessageId = (text: string): MessageId | undefined =>
  /^0*[1-9][0-9]{0,15}$/.test(text) ? messageId(Number(text)) : undefined
