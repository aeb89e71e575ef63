/** Maximum octets of C-octet strings, with their NUL (SMPP 3.4, 4 and 5.2; of system ids and passwords 16 and 9 there, and more in the field). */
export const FIELD_SIZE = {
  systemId: 65,
  password: 65,
  systemType: 13,
  addressRange: 41,
  serviceType: 6,
  address: 21,
  /** esme_addr of alert_notification, and the addresses of data_sm. */
  longAddress: 65,
  time: 17,
  distributionList: 21,
} as const

/** Octets of a header: command_length, command_id, command_status, sequence_number. */
export const headerOctets = 16
