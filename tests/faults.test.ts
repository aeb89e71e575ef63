import { needed } from './faults/faults.ts'
import { expectPromisesHold } from './support/short-faults.ts'

test('under kills, pauses, cut connections and restarts of PostgreSQL every promise holds', async () => {
  await expectPromisesHold({ carrier: 'simulator' }, needed)
}, 400_000)
