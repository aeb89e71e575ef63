import { noTlvs, type DeliverSm } from '@gateway/smpp'

/** Fields that are the same in all deliveries. */
export const emptyDelivery: Omit<
  DeliverSm,
  | 'sourceAddr'
  | 'sourceAddrTon'
  | 'sourceAddrNpi'
  | 'destinationAddr'
  | 'destAddrTon'
  | 'destAddrNpi'
  | 'esmClass'
  | 'shortMessage'
> = {
  command: 'deliver_sm',
  ...{ status: 0, sequence: 0, serviceType: '', protocolId: 0, priorityFlag: 0 },
  ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 0, replaceIfPresentFlag: 0 },
  ...{ dataCoding: 0, smDefaultMsgId: 0, tlvs: noTlvs },
}
