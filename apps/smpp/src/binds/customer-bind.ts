import type { BindId, BindReport, SmppCredential } from '@gateway/core/smpp-customers'
import type { BoundAs, Session } from '../session/session.ts'
import type { TokenBucket } from '../session/token-bucket.ts'

/** Bind of a customer in this process. */
export interface CustomerBind extends BoundAs {
  readonly id: BindId
  readonly credential: SmppCredential
  /** Rate of the credential in this process, shared by its binds. */
  bucket: TokenBucket
  /** Last refusal, as `BindReport.lastError`. */
  lastError: string | undefined
  strayTexts: number
  submissions: number
}

export type CustomerSession = Session<CustomerBind>

export const reportOf = ({ id, lastError, strayTexts, submissions }: CustomerBind): BindReport => ({
  id,
  ...(lastError !== undefined && { lastError }),
  strayTexts,
  submissions,
})
