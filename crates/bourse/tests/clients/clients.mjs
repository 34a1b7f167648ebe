// The published clients, and which of their methods are not served.

// Of each client the newest release, and the oldest whose methods and types are those that are served:
// - marketplace: there are three releases, and the first of them still calls what is served. Its errors have other numbers
//   than those of the newest, by which errors are told; so it is asked for methods and types only.
// - metadata, indexer: since their second major release; in the first, types of members differ from the newest in both
//   directions.
// - builder: there is one release.
export const clients = [
  { module: 'marketplace-newest', of: 'Marketplace', base: 'marketplaceUrl', hasErrors: true },
  { module: 'marketplace-oldest', of: 'Marketplace', base: 'marketplaceUrl' },
  { module: 'metadata-newest', of: 'Metadata', base: 'metadataUrl', hasErrors: true, asksNodes: true },
  { module: 'metadata-oldest', of: 'Metadata', base: 'metadataUrl', hasErrors: true, asksNodes: true },
  { module: 'metadata-newest', of: 'Collections', base: 'metadataUrl', hasErrors: true },
  { module: 'metadata-oldest', of: 'Collections', base: 'metadataUrl', hasErrors: true },
  { module: 'builder-newest', of: 'Builder', base: 'apiUrl', hasErrors: true },
  { module: 'indexer-newest', of: 'Indexer', base: 'marketplaceUrl', hasErrors: true, asksNodes: true },
  { module: 'indexer-oldest', of: 'Indexer', base: 'marketplaceUrl', asksNodes: true },
  { module: 'indexer-newest', of: 'IndexerGateway', as: 'SequenceIndexerGateway', base: 'apiUrl', hasErrors: true, asksNodes: true },
]

// Services of which only the words of errors are compared: their clients are made for much else.
export const words = [{ module: 'api-newest', of: 'Analytics' }]

const SWAP = 'an exchange that nobody uses any more'

// Operations that the clients call and that are not served, with the reason. One that is served must not be here.
export const notServed = {
  'Metadata/GetNiftyswapTokenQuantity': SWAP,
  'Metadata/GetNiftyswapUnitPrices': SWAP,
  'Metadata/GetNiftyswapUnitPricesWithQuantities': SWAP,
}

// Operations that need what only a wallet can make; called without, they say so by this error of the client.
export const refused = {
  'Marketplace/Execute': 'InvalidArgumentError',
  'Marketplace/CheckoutOptionsSalesContract': 'InvalidArgumentError',
  'Builder/RegisterAudienceContact': 'InvalidArgumentError',
  'Builder/GetRegisteredAudienceContact': 'InvalidArgumentError',
  // Nothing ever happened on the chain of the demonstration, nor is it followed.
  'Indexer/SubscribeReceipts': 'InvalidArgumentError',
  'Indexer/FetchTransactionReceipt': 'NotFoundError',
  'Indexer/FetchTransactionReceiptWithFilter': 'NotFoundError',
  'Indexer/GetBalanceUpdates': 'NotFoundError',
  'Indexer/SyncBalance': 'NotFoundError',
}

const NOBODY = '0x00000000000000000000000000000000000000aa'

// Calls that are refused, with the error of the client that tells so.
export const wrong = {
  Marketplace: {
    getFloorOrder: [{ chainId: 'amoy', contractAddress: NOBODY }, 'NotFoundError'],
    listCurrencies: [{ chainId: 'atlantis' }, 'InvalidArgumentError'],
    listCollectibles: [{ chainId: 'amoy', contractAddress: 'nothing', side: 'listing' }, 'InvalidArgumentError'],
  },
  Metadata: {
    getContractInfo: [{ chainID: 'amoy', contractAddress: NOBODY }, 'NotFoundError'],
    searchTokenMetadata: [{ chainID: 'atlantis', contractAddress: NOBODY, filter: {} }, 'ChainNotFoundError'],
    getTokenMetadata: [{ chainID: 'amoy', contractAddress: 'nothing', tokenIDs: [] }, 'InvalidArgumentError'],
  },
  Collections: {
    getToken: [{ collectionId: 404, tokenId: '1' }, 'NotFoundError'],
    getCollection: [{ projectId: 404, collectionId: 1 }, 'PermissionDeniedError'],
  },
}
