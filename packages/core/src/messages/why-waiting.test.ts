import { carrierId, type CarrierId } from '../dispatch/carrier-id.ts'
import type { ReportedCarrier } from '../fleet/carrier-reports.ts'
import { instant } from '../time/instant.ts'
import type { MessageLocation, MessageTrace } from './message-trace.ts'
import { whyWaiting, type WaitingReason } from './why-waiting.ts'

const name = (text: string): CarrierId => carrierId(text) ?? failed()
const failed = (): never => {
  throw new Error('no name')
}
const now = instant(0)

const reportOf = (
  carrier: string,
  changes: {
    bound?: boolean
    throttled?: boolean
    full?: boolean
    stale?: boolean
    open?: boolean
    isHeld?: boolean
  } = {},
) => {
  const { bound = true, throttled = false, full = false, stale = false, open = false, isHeld = false } = changes
  const status = {
    ...{ links: [{ role: 'transceiver', boundSince: bound ? 1 : undefined, inUse: 0 }], perSecond: undefined },
    ...{ isThrottled: throttled, waiting: 0, lastError: undefined, unreadable: 0 },
    receipts: { received: 0, missed: 0, form: undefined },
    circuit: { state: open ? 'half-open' : 'closed' },
  }
  return {
    mode: isHeld ? 'paused' : 'running',
    ...{ carrier: name(carrier), window: 10, unanswered: full ? 10 : 3, status, isStale: stale, reportedAt: now },
    process: { id: '1', host: 'a', pid: 1 },
  } as unknown as ReportedCarrier
}
const route = (place: number | undefined, ...carriers: readonly string[]) =>
  ({
    place,
    carriers: carriers.map((one) => ({ carrier: name(one), priority: 1, weight: 1 })),
  }) as unknown as MessageTrace['route']

const queue: MessageLocation = { place: 'queue', lane: 'single', due: now, attempt: 0 }

test.each<[WaitingReason | undefined, MessageLocation, MessageTrace['route'], readonly ReportedCarrier[]]>([
  ['not-due', { place: 'scheduled', due: now }, undefined, [reportOf('a')]],
  ['refused-for-now', { place: 'postponed', until: now, attempt: 1 }, undefined, [reportOf('a')]],
  [undefined, { place: 'nowhere' }, undefined, [reportOf('a')]],
  ['no-dispatcher', queue, undefined, []],
  ['no-dispatcher', queue, route(1, 'a'), [reportOf('a', { stale: true })]],
  ['route-withdrawn', queue, route(undefined, 'a'), [reportOf('a')]],
  ['no-carrier', queue, route(1, 'a', 'b'), [reportOf('c'), reportOf('a', { stale: true })]],
  ['not-bound', queue, route(1, 'a'), [reportOf('a', { bound: false }), reportOf('b')]],
  ['not-bound', queue, undefined, [reportOf('a', { bound: false })]],
  ['held', queue, route(1, 'a', 'b'), [reportOf('a', { isHeld: true }), reportOf('b', { isHeld: true, bound: false })]],
  ['in-turn', queue, route(1, 'a', 'b'), [reportOf('a', { isHeld: true }), reportOf('b')]],
  ['circuit-open', queue, route(1, 'a', 'b'), [reportOf('a', { open: true }), reportOf('b', { bound: false })]],
  ['throttled', queue, route(1, 'a', 'b'), [reportOf('a', { throttled: true }), reportOf('b', { open: true })]],
  ['throttled', queue, route(1, 'a', 'b'), [reportOf('a', { throttled: true }), reportOf('b', { bound: false })]],
  ['window-full', queue, route(1, 'a'), [reportOf('a', { full: true })]],
  ['in-turn', queue, route(1, 'a', 'b'), [reportOf('a', { throttled: true }), reportOf('b')]],
  ['in-turn', queue, undefined, [reportOf('a')]],
])('%s', (reason, place, via, carriers) => {
  expect(whyWaiting({ place, route: via }, carriers)?.reason).toBe(reason)
})
