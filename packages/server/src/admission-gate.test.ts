import { admissionGate } from './admission-gate.ts'

test('the gate lets in as many as it has places, and one more for each that leaves', () => {
  const gate = admissionGate(2)
  const leave = gate.tryEnter()
  expect(gate.tryEnter()).toBeDefined()
  expect(gate.tryEnter()).toBeUndefined()
  leave?.()
  expect(gate.inFlight).toBe(1)
  expect(gate.tryEnter()).toBeDefined()
  expect(gate.tryEnter()).toBeUndefined()
})

test('leaving twice gives one place back', () => {
  const gate = admissionGate(2)
  const leave = gate.tryEnter()
  gate.tryEnter()
  leave?.()
  leave?.()
  expect(gate.inFlight).toBe(1)
})
