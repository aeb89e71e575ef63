import { admissionGate } from './admission-gate.ts'

test('the gate admits as many requests as it has places, and one more for each release', () => {
  const gate = admissionGate(2)
  const leave = gate.tryEnter()
  expect(gate.tryEnter()).toBeDefined()
  expect(gate.tryEnter()).toBeUndefined()
  leave?.()
  expect(gate.inFlight).toBe(1)
  expect(gate.tryEnter()).toBeDefined()
  expect(gate.tryEnter()).toBeUndefined()
})

test('releasing a place twice releases one place', () => {
  const gate = admissionGate(2)
  const leave = gate.tryEnter()
  gate.tryEnter()
  leave?.()
  leave?.()
  expect(gate.inFlight).toBe(1)
})
