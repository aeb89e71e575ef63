import { needed, neededOfLinks } from './faults/faults.ts'
import { expectPromisesHold } from './support/short-faults.ts'

// Little waits, so that it settles soon. Clients, polls and times to come do not depend on the carrier: the other run
// counts them.
const short = {
  seconds: 28,
  meetsMinute: false,
  secondsBetweenFaults: 0.5,
  clientsAtOnce: 3,
  backlogMax: 600,
  carrierPerSecond: 60,
}

test('over SMPP, with links that are cut and a carrier that is killed, every promise holds too', async () => {
  await expectPromisesHold({ carrier: 'smpp', ...short }, [...needed, ...neededOfLinks], {
    'recipients accepted': 500,
    'events received': 300,
    'looks at all dispatchers, undisturbed, with work due or claimed': 10,
  })
}, 400_000)
