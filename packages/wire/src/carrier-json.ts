import { boundSince, type CircuitStatus } from '@gateway/core/dispatch'
import type { CarrierReport } from '@gateway/core/fleet'

const timeOf = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())

/**
 * Returns the status of a carrier as JSON for programs of operators. Times are ISO 8601 in UTC. Fields are `null` for a
 * carrier without connections, which does not report them.
 */
export const carrierJson = ({ carrier, mode, window, unanswered, status, overflowed = 0 }: CarrierReport) => ({
  carrier,
  mode,
  window,
  unanswered,
  boundSince: timeOf(status && boundSince(status)),
  links:
    status?.links?.map((link) => ({ role: link.role, boundSince: timeOf(link.boundSince), inUse: link.inUse })) ?? null,
  perSecond: status?.perSecond ?? null,
  throttled: status?.isThrottled ?? null,
  waiting: status?.waiting ?? null,
  lastError: status?.lastError ?? null,
  receipts:
    status === undefined
      ? null
      : {
          received: status.receipts.received,
          missed: status.receipts.missed,
          unreadable: status.unreadable,
          idForm: status.receipts.form ?? null,
        },
  circuit: status?.circuit === undefined ? null : circuitJson(status.circuit),
  overflowed,
  ...(status?.facts !== undefined && { facts: status.facts.map(([name, text]) => ({ name, text })) }),
})

const circuitJson = ({ state, since, reason, detail, answerMilliseconds, ...bounds }: CircuitStatus) => ({
  ...{ state, since: timeOf(since), reason: reason ?? null, answerMilliseconds: answerMilliseconds ?? null },
  silentSeconds: bounds.silentSeconds,
  slowMilliseconds: Math.round(bounds.slowSeconds * 1000),
  failuresPercent: bounds.failuresPercent,
  probeSeconds: bounds.probeSeconds,
  probeSecondsMax: bounds.probeSecondsMax,
  ...(detail !== undefined && { explanation: detail }),
})
