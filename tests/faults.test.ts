import { runsEveryForm } from '@gateway/core/testing'
import { needed, neededOfCustomers, neededOfLinks } from './faults/faults.ts'
import { inTurn } from './support/in-turn.ts'
import { expectPromisesHold } from './support/short-faults.ts'

/** Seconds of load with faults, longer if the run plays all forms. */
const seconds = runsEveryForm
  ? { simulator: 40, smpp: 28, http: 30, customers: 40 }
  : { simulator: 32, smpp: 24, http: 24, customers: 24 }

// The run with the simulated carrier counts clients, polls and scheduled messages. In the run over SMPP few messages
// wait, so that everything settles soon.
const forms = [
  {
    title: 'with the simulated carrier',
    settings: { carrier: 'simulator', seconds: seconds.simulator, backlogMax: 1200, carrierPerSecond: 40 },
    faults: needed,
    counts: {
      'recipients accepted': 500,
      'polls: answered': 50,
      'requests with a key: repeated until answered': 5,
      'requests with a key: repeated after an answer': 5,
      'polls that returned something': 10,
      'ids told before the backup, and in it': 200,
      'events received': 150,
      'pushes: repeated': 10,
      'signatures verified': 150,
      // Each of these actions takes some time, so on a busy machine the load may end before one of them has happened.
      'webhooks: rotated | webhooks: paused and resumed | webhooks: resumed when gone | events replayed': 3,
      'looks at all dispatchers, undisturbed, with work due or claimed': 20,
    },
  },
  {
    title: 'over SMPP, with links that are cut and a carrier that is killed',
    settings: {
      carrier: 'smpp',
      ...{ seconds: seconds.smpp, meetsMinute: false, secondsBetweenFaults: 0.5 },
      ...{ clientsAtOnce: 3, backlogMax: 600, carrierPerSecond: 60 },
    },
    faults: [...needed, ...neededOfLinks],
    counts: {
      'recipients accepted': 500,
      'events received': 300,
      'looks at all dispatchers, undisturbed, with work due or claimed': 10,
    },
  },
  {
    title: 'over HTTP, with answers from which the gateway cannot tell whether a message was accepted',
    settings: {
      carrier: 'http',
      ...{ seconds: seconds.http, meetsMinute: false, recipientsPerSecond: 60 },
      ...{ clientsAtOnce: 3, backlogMax: 600, carrierPerSecond: 60 },
    },
    faults: needed,
    counts: { 'recipients accepted': 300, 'looks at all dispatchers, undisturbed, with work due or claimed': 10 },
  },
  {
    title: 'with customers over SMPP, whose clients leave, freeze and come back',
    settings: {
      carrier: 'simulator',
      hasSmppCustomers: true,
      ...{ seconds: seconds.customers, meetsMinute: false, recipientsPerSecond: 5, secondsBetweenFaults: 3 },
      ...{ clientsAtOnce: 2, backlogMax: 600, carrierPerSecond: 60 },
    },
    faults: [...needed, ...neededOfCustomers],
    counts: {
      'SMPP: submissions answered an id': 100,
      'SMPP: receipts': 50,
      'SMPP: texts of 2 parts whole | SMPP: texts of 3 parts whole': 5,
      'SMPP: replies due': 1,
    },
  },
] as const

test.each(inTurn<(typeof forms)[number]>(forms))(
  'under kills, pauses, cut connections and restarts of PostgreSQL every promise holds $title',
  async ({ settings, faults, counts }) => {
    await expectPromisesHold(settings, faults, counts)
  },
  400_000,
)
