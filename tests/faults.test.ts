import { needed } from './faults/faults.ts'
import { expectPromisesHold } from './support/short-faults.ts'

test('under kills, pauses, cut connections and restarts of PostgreSQL every promise holds', async () => {
  await expectPromisesHold({ carrier: 'simulator' }, needed, {
    'recipients accepted': 500,
    'polls: answered': 100,
    'requests with a key: repeated until answered': 5,
    'requests with a key: repeated after an answer': 10,
    'polls that returned something': 10,
    'events received': 500,
    'pushes: repeated': 10,
    'looks at all dispatchers, undisturbed, with work due or claimed': 20,
  })
}, 400_000)
