import type { ClientRequest } from '@gateway/core'
import { digest } from '../digest.ts'

/** What its first answer is kept under: another one for each account and key. */
export const keyDigest = ({ account, key }: Pick<ClientRequest, 'account' | 'key'>): string =>
  digest(`${account} ${key}`)

/** Whether a request is the same. */
export const askedDigest = ({ asked }: Pick<ClientRequest, 'asked'>): string => digest(asked)
