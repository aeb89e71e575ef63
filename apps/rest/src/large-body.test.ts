import { admissionGate, type TimeSlices } from '@gateway/server'
import { startRest } from '../testing/start-rest.ts'

test('a large body is parsed in a time slice of its account, an ordinary one at once', async () => {
  const owners: string[] = []
  const gate = admissionGate(100)
  const slices: TimeSlices = {
    ...gate.slices,
    run: (owner, piece) => {
      owners.push(owner)
      return gate.slices.run(owner, piece)
    },
  }
  const rest = await startRest({ gate: Object.create(gate, { slices: { value: slices } }) as typeof gate })
  const transfer = (length: number) => rest.post('/credits/transfer', '['.repeat(length / 2) + ']'.repeat(length / 2))
  await transfer(60_000).expect(422)
  expect(owners).toEqual([])
  await transfer(204_000).expect(422)
  expect(owners).toHaveLength(1)
  await rest.close()
})
