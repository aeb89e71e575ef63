import { pduFields, trySubmission, type TrialResult } from '@gateway/adapters-smpp'
import type { CarrierBinds, Submission } from '@gateway/core'
import { randomUUID } from 'node:crypto'
import type { CarrierSpecification } from './carrier-specification.ts'

export interface SeenPdu {
  readonly at: number
  readonly direction: 'sent' | 'received'
  readonly fields: Readonly<Record<string, unknown>>
}

export interface CarrierTrial {
  readonly carrier: Extract<CarrierSpecification, { readonly kind: 'smpp' }>
  readonly message: Omit<Submission, 'id'>
  readonly receiptSeconds: number
  readonly interruption: AbortSignal
  readonly saw: (pdu: SeenPdu) => void
}

/**
 * Submits one message over a bind of its own and waits for its receipts. Where the binds of the carrier are shared it leases one first; `no-bind`:
 * all are in use. It charges nobody, and nothing of it is stored.
 */
export async function tryCarrier(
  { carrier: { id, settings }, message, receiptSeconds, interruption, saw }: CarrierTrial,
  binds?: CarrierBinds,
): Promise<TrialResult | 'no-bind'> {
  const run = (): Promise<TrialResult> =>
    trySubmission(settings, message, {
      ...{ receiptSeconds, interruption },
      saw: (direction, pdu) => saw({ at: Date.now(), direction, fields: pduFields(pdu) }),
    })
  if (settings.bindsMax === undefined || binds === undefined) return run()
  const [holder, max] = [randomUUID(), settings.bindsMax]
  // Long enough for all that may take time: seven parts, and what may be waited for.
  const seconds = settings.connectSeconds + 7 * settings.responseSeconds + receiptSeconds + 30
  const { numbers } = await binds.lease(id, holder, { count: 1, max, seconds })
  if (numbers.length === 0) return 'no-bind'
  try {
    return await run()
  } finally {
    await binds.release(id, holder, numbers)
  }
}
