import type { Brand } from '../brand.ts'

/** Name of a carrier in the operator's configuration: 1 to 32 characters of a-z, 0-9 and '-'. */
export type CarrierId = Brand<string, 'CarrierId'>

export const carrierId = (text: string): CarrierId | undefined =>
  /^[a-z0-9-]{1,32}$/.test(text) ? (text as CarrierId) : undefined
