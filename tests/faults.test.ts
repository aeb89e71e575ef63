import { needed } from './faults/faults.ts'
import { expectPromisesHold } from './support/short-faults.ts'

// What waits when the load is over is sent within half a minute.
const short = { seconds: 40, backlogMax: 1200, carrierPerSecond: 40 }

test('under kills, pauses, cut connections and restarts of PostgreSQL every promise holds', async () => {
  await expectPromisesHold({ carrier: 'simulator', ...short }, needed, {
    'recipients accepted': 500,
    'polls: answered': 50,
    'requests with a key: repeated until answered': 5,
    'requests with a key: repeated after an answer': 5,
    'polls that returned something': 10,
    'ids told before the backup, and in it': 200,
    'events received': 150,
    'pushes: repeated': 10,
    'signatures verified': 150,
    // Each takes its time; on a busy machine the load may end before one of them has come.
    'webhooks: rotated | webhooks: paused and resumed | webhooks: resumed when gone | events replayed': 3,
    'looks at all dispatchers, undisturbed, with work due or claimed': 20,
  })
}, 400_000)
