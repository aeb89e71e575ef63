import type { Brand } from '../brand.ts'

/** The name of a carrier in the operator's configuration: 1 to 32 of a-z, 0-9, '-'. */
export type CarrierId = Brand<string, 'CarrierId'>

export const carrierId = (text: string): CarrierId | undefined =>
  /^[a-z0-9-]{1,32}$/.test(text) ? (text as CarrierId) : undefined
