import type { InboundMessage } from '../inbox/inbound-message.ts'
import { receive } from '../inbox/receive.ts'
import type { Body } from '../message/body.ts'
import type { Ports } from '../ports.ts'
import type { Carrier } from './carrier.ts'
import type { Availability } from './claimable-queues.ts'
import type { Lane } from './claimed-batches.ts'
import type { DeliveryReceipt } from './delivery-receipt.ts'
import type { DispatcherSettings } from './dispatcher-settings.ts'
import { createEpochs } from './epochs.ts'
import { claimSize, loadOf, markSize } from './flow-control.ts'
import { createGathering, type Later } from './gathering.ts'
import { createHoldBackQueue } from './hold-back-queue.ts'
import { holdUntilRecorded } from './hold-until-recorded.ts'
import { createInFlight, type OpenBatch } from './in-flight.ts'
import { createOutcomeWriter } from './outcome-writer.ts'
import { noRoute, type QueueNumber } from './published-routes.ts'
import type { RouteTurns } from './route-turns.ts'
import { createStallDetector } from './stall-detector.ts'
import { measureThroughput } from './throughput.ts'

/** Delivery receipts and inbound messages of one commit at the most; a larger backlog is taken in several. */
const receiptsMax = 2000
const inboundMax = 500

export interface DispatcherPorts extends Pick<Ports, 'claimedBatches' | 'deliveryReceipts' | 'inbox' | 'clock'> {
  /** Undefined: answers are stored at once, however few there are. */
  readonly later?: Later
}

export type Parts = ReturnType<typeof createParts>

/** What a dispatcher consists of. Each part keeps its own state; the functions below make them work together. */
export function createParts(
  ports: DispatcherPorts,
  carrier: Carrier,
  report: (problem: unknown) => void,
  settings: DispatcherSettings,
  confirmation: Body,
  turns: RouteTurns,
) {
  const inFlight = createInFlight(settings.inDoubtMax)
  const throughput = measureThroughput(ports.clock)
  const phase = { closing: false, ended: false, writing: false, disowning: false }
  const availability = (): Availability => carrier.availability?.() ?? 'available'
  const load = () => loadOf(inFlight, settings, carrier.takenMax ?? carrier.window, throughput.perSecond())
  const marks = ({ lane, end, marked }: OpenBatch, freed = 0): number =>
    phase.closing || availability() === 'down' ? 0 : markSize(lane, end - marked, load(), freed)
  const outcomes = createOutcomeWriter(ports, inFlight, marks)
  const receipts = createHoldBackQueue<DeliveryReceipt>(
    (some) => ports.deliveryReceipts.apply(some),
    (some) => () => some.some(({ reference }) => outcomes.hasReference(reference)),
    receiptsMax,
  )
  const store = receive(ports, confirmation)
  const inbound = createHoldBackQueue(
    (some: readonly InboundMessage[]) => store(some).then(() => []),
    holdUntilRecorded(inFlight, outcomes),
    inboundMax,
  )
  carrier.listen({
    receipts: (some) => receipts.add(some),
    inboundMessages: (some) => inbound.add(some),
    offersEnded: (offers) => ports.inbox.endOffers(carrier.id, offers),
    receiptForm: {
      learned: () => ports.deliveryReceipts.learnedForm(carrier.id),
      keep: (form) => ports.deliveryReceipts.keepLearnedForm(carrier.id, form),
    },
  })
  const changes = createChanges()
  const leave = turns.join({
    carrier: carrier.id,
    availability: () => (phase.closing ? 'down' : availability()),
    hasRoom: (lane) => inFlight.isClaiming(lane) || (!inFlight.hasLostClaims() && claimSize(lane, load()) > 0),
    changed: () => changes.notify(),
  })
  return {
    ...{ turns, leave, availability },
    ...{ ports, carrier, report, settings, phase, inFlight, load, marks, outcomes, receipts, inbound, throughput },
    epochs: createEpochs(ports, settings),
    stalls: createStallDetector(ports.clock, settings.stallSeconds),
    changes,
    gathering: createGathering(ports.clock, ports.later),
    /** Lanes in which a claim waits for room. */
    waiting: new Set<Lane>(),
    /** The queue that was claimed from last. */
    lastQueue: { single: noRoute, bulk: noRoute } as Record<Lane, QueueNumber>,
  }
}

/** Wakes all who wait for the next change. */
function createChanges() {
  let waiters: (() => void)[] = []
  return {
    next: (): Promise<void> => new Promise((resolve) => waiters.push(resolve)),
    notify(): void {
      const woken = waiters
      waiters = []
      for (const wake of woken) wake()
    },
  }
}
