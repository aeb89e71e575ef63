import { needed, neededOfLinks } from './faults/faults.ts'
import { expectPromisesHold } from './support/short-faults.ts'

test('over SMPP, with links that are cut and a carrier that is killed, every promise holds too', async () => {
  await expectPromisesHold({ carrier: 'smpp', carrierPerSecond: 40 }, [...needed, ...neededOfLinks])
}, 400_000)
