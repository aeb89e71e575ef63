import { carrierId, type CarrierId } from '../dispatch/carrier-id.ts'
import type { ToldCarrier } from '../fleet/carrier-statuses.ts'
import { instant } from '../time/instant.ts'
import type { MessageLocation, MessageTrace } from './message-traces.ts'
import { whyWaiting, type WaitingReason } from './why-waiting.ts'

const name = (text: string): CarrierId => carrierId(text) ?? failed()
const failed = (): never => {
  throw new Error('no name')
}
const now = instant(0)

const told = (
  carrier: string,
  changes: {
    bound?: boolean
    throttled?: boolean
    full?: boolean
    stale?: boolean
    open?: boolean
    held?: boolean
  } = {},
) => {
  const { bound = true, throttled = false, full = false, stale = false, open = false, held = false } = changes
  const status = {
    ...{ links: [{ role: 'transceiver', boundSince: bound ? 1 : undefined, inUse: 0 }], perSecond: undefined },
    ...{ isThrottled: throttled, waiting: 0, lastError: undefined, unreadable: 0 },
    receipts: { received: 0, missed: 0, form: undefined },
    circuit: { state: open ? 'half-open' : 'closed' },
  }
  return {
    mode: held ? 'paused' : 'running',
    ...{ carrier: name(carrier), window: 10, unanswered: full ? 10 : 3, status, isStale: stale, toldAt: now },
    process: { id: '1', host: 'a', pid: 1 },
  } as unknown as ToldCarrier
}
const route = (place: number | undefined, ...carriers: readonly string[]) =>
  ({
    place,
    carriers: carriers.map((one) => ({ carrier: name(one), priority: 1, weight: 1 })),
  }) as unknown as MessageTrace['route']

const queue: MessageLocation = { place: 'queue', lane: 'single', due: now, attempt: 0 }

test.each<[WaitingReason | undefined, MessageLocation, MessageTrace['route'], readonly ToldCarrier[]]>([
  ['not-due', { place: 'scheduled', due: now }, undefined, [told('a')]],
  ['refused-for-now', { place: 'postponed', until: now, attempt: 1 }, undefined, [told('a')]],
  [undefined, { place: 'nowhere' }, undefined, [told('a')]],
  ['no-dispatcher', queue, undefined, []],
  ['no-dispatcher', queue, route(1, 'a'), [told('a', { stale: true })]],
  ['route-withdrawn', queue, route(undefined, 'a'), [told('a')]],
  ['no-carrier', queue, route(1, 'a', 'b'), [told('c'), told('a', { stale: true })]],
  ['not-bound', queue, route(1, 'a'), [told('a', { bound: false }), told('b')]],
  ['not-bound', queue, undefined, [told('a', { bound: false })]],
  ['held', queue, route(1, 'a', 'b'), [told('a', { held: true }), told('b', { held: true, bound: false })]],
  ['in-turn', queue, route(1, 'a', 'b'), [told('a', { held: true }), told('b')]],
  ['circuit-open', queue, route(1, 'a', 'b'), [told('a', { open: true }), told('b', { bound: false })]],
  ['throttled', queue, route(1, 'a', 'b'), [told('a', { throttled: true }), told('b', { open: true })]],
  ['throttled', queue, route(1, 'a', 'b'), [told('a', { throttled: true }), told('b', { bound: false })]],
  ['window-full', queue, route(1, 'a'), [told('a', { full: true })]],
  ['in-turn', queue, route(1, 'a', 'b'), [told('a', { throttled: true }), told('b')]],
  ['in-turn', queue, undefined, [told('a')]],
])('%s', (reason, place, via, carriers) => {
  expect(whyWaiting({ place, route: via }, carriers)?.reason).toBe(reason)
})
