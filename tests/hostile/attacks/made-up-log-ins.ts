import { get, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

let names = 0
const logIn = () => get(`/api/credits.asp?user=made-up-${names++}&password=guess`)

export const madeUpLogIns: Attack = {
  title: 'log-ins with made-up names from one network',
  by: 'asp',
  run: (target) => flood(target, { connections: scaled(target, 130), text: logIn, answersToText: 1 }),
}

export const madeUpLogInsOfManyNetworks: Attack = {
  title: 'log-ins with made-up names from 250 networks',
  by: 'asp',
  run: (target) => flood(target, { connections: scaled(target, 400), networks: 240, text: logIn, answersToText: 1 }),
}
