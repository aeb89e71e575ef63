/** Whether a request comes from one of these networks, each an address or in CIDR form. */
export type ComesFrom = (networks: readonly string[]) => boolean

/** Whether what is good from these networks only may be used; none: from anywhere. Whence is unknown is none of them. */
export const mayComeFrom = (networks: readonly string[], comesFrom: ComesFrom = () => false): boolean =>
  networks.length === 0 || comesFrom(networks)
