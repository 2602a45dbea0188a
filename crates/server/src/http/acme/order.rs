//! An order (RFC 8555 §7.4): account, domains, challenges, certificate.

use std::sync::Arc;
use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Identifier, KeyAuthorization, NewAccount,
    NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::CertifiedKey;

use super::client::AcmeClient;
use super::{Acme, AcmeChallenge, AcmeError, Challenges};
use crate::http::acme::stored::AcmeFiles;

/// How long the authority may take for each step.
const STEP_TIMEOUT: RetryPolicy = RetryPolicy::new().timeout(Duration::from_mins(2));

/// A new certificate with its key, in PEM.
pub(super) async fn order(
    settings: &Acme,
    client: AcmeClient,
    files: &AcmeFiles,
    challenges: &Challenges,
) -> Result<String, AcmeError> {
    let account = account(settings, client, files).await?;
    let names = settings.domains.iter().cloned().map(Identifier::Dns);
    let names: Vec<_> = names.collect();
    let mut order = account.new_order(&NewOrder::new(&names)).await?;
    prepare_challenges(settings, &mut order, challenges).await?;
    let status = order.poll_ready(&STEP_TIMEOUT).await?;
    if status != OrderStatus::Ready {
        return Err(denial(&account, order).await);
    }
    let key = KeyPair::generate().map_err(|_| AcmeError::Other("no key could be made"))?;
    let request = request(settings, &key);
    let request = request.map_err(|_| AcmeError::Other("no request could be made"))?;
    order.finalize_csr(&request).await?;
    let chain = order.poll_certificate(&STEP_TIMEOUT).await?;
    Ok(format!(
        "{}\n{chain}\n{}",
        settings.directory,
        key.serialize_pem()
    ))
}

/// The account that was made before, or a new one.
async fn account(
    settings: &Acme,
    client: AcmeClient,
    files: &AcmeFiles,
) -> Result<Account, AcmeError> {
    let builder = Account::builder_with_http(Box::new(client));
    if let Some(credentials) = files.account()? {
        return Ok(builder.from_credentials(credentials).await?);
    }
    let contact: Vec<&str> = settings.contact.iter().map(String::as_str).collect();
    let new = NewAccount {
        contact: &contact,
        // The operator has agreed to them in the configuration (`agree-terms`).
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let directory = settings.directory.clone();
    let (account, credentials) = builder.create(&new, directory, None).await?;
    files.store_account(&credentials)?;
    Ok(account)
}

/// Prepares the answers to the challenges, and tells the authority that they are ready.
async fn prepare_challenges(
    settings: &Acme,
    order: &mut Order,
    challenges: &Challenges,
) -> Result<(), AcmeError> {
    let kind = match settings.challenge {
        AcmeChallenge::Http01 => ChallengeType::Http01,
        AcmeChallenge::TlsAlpn01 => ChallengeType::TlsAlpn01,
    };
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let Some(mut challenge) = authorization.challenge(kind.clone()) else {
            let text = "the authority does not offer this kind of challenge";
            return Err(AcmeError::Other(text));
        };
        let text = challenge.key_authorization();
        match settings.challenge {
            AcmeChallenge::Http01 => {
                challenges.add_text(challenge.token.clone(), text.as_str().to_string());
            }
            AcmeChallenge::TlsAlpn01 => {
                let name = challenge.identifier().to_string();
                challenges.add_certificate(&name, challenge_certificate(&name, &text)?);
            }
        }
        challenge.set_ready().await?;
    }
    Ok(())
}

/// "A self-signed certificate with the domain name and an acmeIdentifier extension" (RFC 8737 §3).
fn challenge_certificate(
    name: &str,
    text: &KeyAuthorization,
) -> Result<Arc<CertifiedKey>, AcmeError> {
    let failed = AcmeError::Other("no certificate could be made for a challenge");
    let made = || {
        let key = KeyPair::generate().ok()?;
        let mut params = CertificateParams::new(vec![name.to_string()]).ok()?;
        let extension = CustomExtension::new_acme_identifier(text.digest().as_ref());
        params.custom_extensions = vec![extension];
        let certificate = params.self_signed(&key).ok()?;
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let chain = vec![certificate.der().clone()];
        // The extension is critical, and only authorities know it: the pair cannot be checked here.
        let key = aws_lc_rs::sign::any_supported_type(&key.into()).ok()?;
        Some(CertifiedKey::new(chain, key))
    };
    made().map(Arc::new).ok_or(failed)
}

fn request(settings: &Acme, key: &KeyPair) -> Result<Vec<u8>, rcgen::Error> {
    let mut params = CertificateParams::new(settings.domains.clone())?;
    params.distinguished_name = DistinguishedName::new();
    Ok(params.serialize_request(key)?.der().to_vec())
}

/// Which domain the authority has rejected, and why.
async fn denial(account: &Account, order: Order) -> AcmeError {
    let (url, _) = order.into_parts();
    // The order at hand is older than the result of the challenges.
    let Ok(mut order) = account.order(url).await else {
        return AcmeError::Other("the authority does not believe that the names lead here");
    };
    let mut authorizations = order.authorizations();
    while let Some(Ok(authorization)) = authorizations.next().await {
        let problem = authorization
            .challenges
            .iter()
            .find_map(|one| one.error.as_ref());
        if let Some(problem) = problem {
            return AcmeError::Denied {
                domain: authorization.identifier().to_string(),
                problem: problem.to_string(),
            };
        }
    }
    AcmeError::Other("the authority does not believe that the names lead here")
}
